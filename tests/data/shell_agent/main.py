"""A small agent of ours for tests: one shell tool over chat completions, until the model says something without it.

Started as `python3 /agent/main.py PROMPT_FILE URL MODEL` in the tree. Only the standard library.
"""

import json
import subprocess
import sys
import urllib.request

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command in the repository.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}


def ask(url, model, messages):
    body = json.dumps({"model": model, "messages": messages, "tools": [TOOL]}).encode()
    request = urllib.request.Request(url + "/chat/completions", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]


def main():
    prompt, url, model = sys.argv[1:]
    with open(prompt, encoding="utf-8", newline="") as file:
        messages = [{"role": "user", "content": file.read()}]
    while True:
        message = ask(url, model, messages)
        messages.append(message)
        calls = message.get("tool_calls") or []
        if not calls:
            print(message.get("content") or "")
            return
        for call in calls:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, errors="replace")
            print(json.dumps({"exit": done.returncode}), flush=True)
            result = f"{done.stdout}{done.stderr}\nexit {done.returncode}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result[-200_000:]})


if __name__ == "__main__":
    main()
