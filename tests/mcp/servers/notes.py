"""A server that is written with the package fastmcp."""

from fastmcp import Context, FastMCP
from pydantic import BaseModel

mcp = FastMCP("notes")
notes: list[str] = []


class Kept(BaseModel):
    number: int
    text: str


@mcp.tool
def keep(text: str) -> Kept:
    """Keeps a note."""
    notes.append(text)
    return Kept(number=len(notes), text=text)


@mcp.tool(annotations={"readOnlyHint": True})
def find(word: str) -> list[str]:
    """Finds the notes with a word."""
    return [note for note in notes if word in note]


@mcp.tool
async def count(context: Context) -> int:
    """Counts the notes, and reports the progress."""
    await context.report_progress(1, 1)
    return len(notes)


@mcp.tool
def fail() -> str:
    """Fails."""
    raise ValueError("there are no notes")


if __name__ == "__main__":
    mcp.run(show_banner=False)
