"""Write the golden file of every case that has none yet: python -m tests.golden. Existing files stay as they are."""

import json

from tests.golden.cases import CASES
from tests.golden.test_golden import ANSWERS, FILES


def main() -> None:
    """Learn, save, and record the predictions before and after more examples."""
    answers = json.loads(ANSWERS.read_text()) if ANSWERS.exists() else {}
    for name, case in CASES.items():
        path = FILES / f"{name}.nk"
        if path.exists():
            continue
        model = case.learn()
        model.save(path)
        first = case.answers(model)
        case.learn_more(model)
        answers[name] = [first, case.answers(model)]
        print(path)
    ANSWERS.write_text(json.dumps(answers, indent=None).replace("]], ", "]],\n") + "\n")


if __name__ == "__main__":
    main()
