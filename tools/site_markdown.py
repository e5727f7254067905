"""site_markdown.py - pages as they are written, for GitHub's Markdown, as
Python's Markdown wants them; and links between them."""

import re

_MARKER = re.compile(r"([-*+]|\d+[.)])( +)(?=\S)")
_FENCE = re.compile(r"(```+|~~~+)")


def _is_table(lines, i):
    return lines[i].lstrip().startswith("|") and i + 1 < len(lines) and re.match(r"\s*\|[-:| ]+\|\s*$", lines[i + 1]) is not None


def reindent(text):
    """What belongs to an item of a list is indented by four, and lists and
    tables stand apart from the paragraph before."""
    lines, out, stack, fence = text.split("\n"), [], [], None
    for i, line in enumerate(lines):
        if not line.strip():
            out.append("")
            continue
        indent = len(line) - len(line.lstrip())
        words = line.lstrip()
        before = out[-1] if out else ""
        if fence is None:
            marker = _MARKER.match(words)
            begins = marker is not None or words[0] in "#|>" or _FENCE.match(words) is not None
            while stack and indent < stack[-1] and (begins or not before):
                stack.pop()
            rest = max(0, indent - (stack[-1] if stack else 0))
            if rest < 4 and marker is not None and (not before or stack or before[0] != " "):
                if before and not stack and not _MARKER.match(before.lstrip()):
                    out.append("")
                out.append(" " * (4 * len(stack)) + words)
                stack.append(indent + marker.end())
                continue
            if _is_table(lines, i) and before and not before.lstrip().startswith("|"):
                out.append("")
            if rest < 4 and _FENCE.match(words):
                fence = _FENCE.match(words).group(1)
        else:
            rest = max(0, indent - (stack[-1] if stack else 0))
            if words.rstrip() == fence:
                fence = None
        out.append(" " * (4 * len(stack) + rest) + words)
    return "\n".join(out)


def relink(text, new_target):
    """Every link, but in blocks of code, to what new_target says of it."""
    pieces = re.split(r"(^```+.*?^```+$)", text, flags=re.M | re.S)
    return "".join(piece if piece.startswith("```") else re.sub(r"\]\(([^)\s]+)\)", lambda m: "](%s)" % new_target(m.group(1)), piece) for piece in pieces)


def headings(text):
    """Anchors that GitHub gives a page's headings."""
    found, text = [], re.sub(r"^(```+).*?^\1$", "", text, flags=re.M | re.S)
    for title in re.findall(r"^#{1,6} +(.*?)\s*$", text, re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        n = found.count(slug)
        found.append("%s-%d" % (slug, n) if n else slug)
    return found
