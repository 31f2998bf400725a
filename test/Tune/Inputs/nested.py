"""nested.py KIND LEVELS [FILE]: FILE (default: nothing) nested in one way.

For text that upstream's parsers would follow until the stack ends.
"""

import sys
from pathlib import Path

kind, levels = sys.argv[1], int(sys.argv[2])
text = Path(sys.argv[3]).read_text() if len(sys.argv) > 3 else ""
chain = range(1, levels)
attributes = {
    "list": "[" * levels + "]" * levels,
    "dictionary": "{a = " * levels + "1" + "}" * levels,
    "tuple": "tuple<" * levels + "i1" + ">" * levels,
    "function": "() -> (" * levels + "i1" + ")" * levels,
    "alias": f"#a{levels - 1}",
}
before = {
    "affine": "#m = affine_map<(i) -> (" + "(" * levels + "i" + ")" * levels + ")>\n",
    "minus": "#m = affine_map<(i) -> (" + "- " * levels + "i)>\n",
    "plus": "#m = affine_map<(i) -> (0" + "".join(f" + i floordiv {i + 2}" for i in range(levels // 2)) + ")>\n",
    "alias": "#a0 = [1]\n" + "".join(f"#a{i} = [#a{i - 1}]\n" for i in chain),
    "module": "module {" * levels,
}
after = {
    "location": " loc(" + "callsite(" * levels + '"a"' + ' at "b")' * levels + ")",
    "module": "}" * levels,
}
if kind == "json-list":
    print("[" * levels)
elif kind == "json-object":
    print('{"a":' * levels + "1" + "}" * levels)
else:
    if kind in attributes:
        text = text.replace(" {\n", f" attributes {{x = {attributes[kind]}}} {{\n", 1)
    print(before.get(kind, "") + text.rstrip() + after.get(kind, ""))
