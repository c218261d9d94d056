"""An agent's loop in the vendors' own Python clients; run by an interpreter that has them, not by that of the tests.

`python sdk_program.py SDK URL STREAM` prints one JSON line: for each turn the command or text, and the four counts. The
answers are also checked against the client's own types, in which a wrong or missing field is an error.
Invariant: it imports nothing of this project.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
SYSTEM, PROMPT, OUTPUT = "You are careful.", "Mend the label.", "a\nb c"
Turn = tuple[str, list[int]]  # command or text; input, cached, written, output


def chat(url: str, stream: bool) -> list[Turn]:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion

    client = OpenAI(base_url=f"{url}/v1", api_key="test-key", max_retries=2)
    tools = [{"type": "function", "function": {"name": "bash", "parameters": SCHEMA}}]
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    turns: list[Turn] = []
    while True:
        asked: dict[str, Any] = {"model": "scripted", "messages": messages, "tools": tools}
        if stream:
            with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
                whole = events.get_final_completion()
        else:
            whole = client.chat.completions.create(**asked)
            ChatCompletion.model_validate(whole.model_dump(), strict=True)
        message, used = whole.choices[0].message, whole.usage
        counts = [used.prompt_tokens, used.prompt_tokens_details.cached_tokens, 0, used.completion_tokens]
        if not message.tool_calls:
            return [*turns, (message.content, counts)]
        call = message.tool_calls[0]
        turns.append((json.loads(call.function.arguments)["command"], counts))
        function = {"name": call.function.name, "arguments": call.function.arguments}
        sent = [{"id": call.id, "type": "function", "function": function}]
        messages += [
            {"role": "assistant", "tool_calls": sent},
            {"role": "tool", "tool_call_id": call.id, "content": OUTPUT},
        ]


def responses(url: str, stream: bool) -> list[Turn]:
    from openai import OpenAI
    from openai.types.responses import ResponseStreamEvent
    from pydantic import TypeAdapter

    client = OpenAI(base_url=f"{url}/v1", api_key="test-key", max_retries=2)
    tools = [{"type": "function", "name": "bash", "parameters": SCHEMA, "strict": False}]
    items: list[Any] = [{"role": "user", "content": PROMPT}]
    turns: list[Turn] = []
    check = TypeAdapter(ResponseStreamEvent)
    while True:
        asked: dict[str, Any] = {"model": "scripted", "instructions": SYSTEM, "input": items, "tools": tools}
        if stream:
            for event in client.responses.create(**asked, stream=True):
                check.validate_python(event.model_dump(by_alias=True))
            with client.responses.stream(**asked) as events:
                whole = events.get_final_response()
        else:
            whole = client.responses.create(**asked)
        used, (item,) = whole.usage, whole.output
        details = used.input_tokens_details
        counts = [used.input_tokens, details.cached_tokens, details.cache_write_tokens, used.output_tokens]
        if item.type == "message":
            return [*turns, (whole.output_text, counts)]
        turns.append((json.loads(item.arguments)["command"], counts))
        call = {"type": "function_call", "call_id": item.call_id, "name": item.name, "arguments": item.arguments}
        items += [call, {"type": "function_call_output", "call_id": item.call_id, "output": OUTPUT}]


def anthropic(url: str, stream: bool) -> list[Turn]:
    from anthropic import Anthropic
    from anthropic.types import Message, RawMessageStreamEvent
    from pydantic import TypeAdapter

    client = Anthropic(base_url=url, api_key="test-key", max_retries=2)
    tools = [{"name": "bash", "input_schema": SCHEMA}]
    messages: list[Any] = [{"role": "user", "content": PROMPT}]
    turns: list[Turn] = []
    check = TypeAdapter(RawMessageStreamEvent)
    while True:
        asked: dict[str, Any] = {"model": "scripted", "max_tokens": 100, "system": SYSTEM, "messages": messages}
        if stream:
            for event in client.messages.create(**asked, tools=tools, stream=True):
                if event.type != "ping":
                    check.validate_python(event.model_dump(by_alias=True))
            with client.messages.stream(**asked, tools=tools) as events:
                whole = events.get_final_message()
        else:
            whole = client.messages.create(**asked, tools=tools)
            Message.model_validate(whole.model_dump(), strict=True)
        used, (block,) = whole.usage, whole.content
        cached, written = used.cache_read_input_tokens, used.cache_creation_input_tokens
        counts = [used.input_tokens + cached + written, cached, written, used.output_tokens]
        if block.type == "text":
            return [*turns, (block.text, counts)]
        turns.append((block.input["command"], counts))
        call = {"type": "tool_use", "id": block.id, "name": block.name, "input": block.input}
        result = {"type": "tool_result", "tool_use_id": block.id, "content": OUTPUT}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


def gemini(url: str, stream: bool) -> list[Turn]:
    from google.genai import Client, types

    retry = types.HttpRetryOptions(attempts=3, initial_delay=0.01, max_delay=0.02)
    client = Client(api_key="test-key", http_options=types.HttpOptions(base_url=url, retry_options=retry))
    tool = types.FunctionDeclaration(name="bash", parameters_json_schema=SCHEMA)
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=[tool])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=PROMPT)])]
    turns: list[Turn] = []
    while True:
        asked: dict[str, Any] = {"model": "scripted", "contents": contents, "config": config}
        if stream:
            chunks = list(client.models.generate_content_stream(**asked))
        else:
            chunks = [client.models.generate_content(**asked)]
        used, call = chunks[-1].usage_metadata, (chunks[0].function_calls or [None])[0]
        output = used.candidates_token_count + (used.thoughts_token_count or 0)
        counts = [used.prompt_token_count, used.cached_content_token_count or 0, 0, output]
        if call is None:
            return [*turns, ("".join(chunk.text for chunk in chunks), counts)]
        turns.append((call.args["command"], counts))
        result = types.Part.from_function_response(name=call.name, response={"output": OUTPUT})
        contents += [chunks[0].candidates[0].content, types.Content(role="user", parts=[result])]


RUN = {"chat": chat, "responses": responses, "anthropic": anthropic, "gemini": gemini}

if __name__ == "__main__":
    try:
        print(json.dumps({"turns": RUN[sys.argv[1]](sys.argv[2], sys.argv[3] == "streamed")}))
    except Exception as error:  # which one is what the test asks
        print(json.dumps({"error": type(error).__name__, "text": str(error)}))
