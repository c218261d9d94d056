from mistune import create_markdown
from mistune.plugins.task_lists import open_tasks

SHED = """# Engine 7

- [x] grease
- [ ] **brake** shoes,
  left side
  - [ ] order them
  - [X] measure

> 1. [ ] boiler paper

- no task
- [ ] whistle

  sounds like 5
"""


def test_tasks_of_a_text():
    md = create_markdown(plugins=["task_lists"])
    assert md.parse(SHED)[1].env["tasks"] == [
        (True, "grease"),
        (False, "**brake** shoes, left side"),
        (False, "order them"),
        (True, "measure"),
        (False, "boiler paper"),
        (False, "whistle"),
    ]
    assert md.parse("- none")[1].env["tasks"] == []


def test_open_tasks():
    assert open_tasks(SHED) == ["**brake** shoes, left side", "order them", "boiler paper", "whistle"]
    assert open_tasks("") == []
