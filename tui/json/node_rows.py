"""A JSON text as it is looked at: which of its nodes stand on which rows. No input or output, nothing of the screen."""

from sightline.tui.json.nodes import Batch, Node


class JsonRows:
    """The rows of a tree.

    Attributes:
        rows: the nodes, in order.
    """

    def __init__(self, root: Node) -> None:
        self.rows: list[Node] = [root]
        self._show_children(0)

    def __len__(self) -> int:
        return len(self.rows)

    def wanted(self, first: int, last: int) -> Node | None:
        """A container some of whose children stand on these rows, but have not been read; None where all are there."""
        for node in self.rows[max(first, 0) : last + 1]:
            if node.kind == "more":
                return node.parent
        return None

    def toggle(self, at: int) -> None:
        """Show what is in the container of a row, or hide it."""
        node = self.rows[at]
        if not node.is_container or node.count == 0:
            return
        node.is_open = not node.is_open
        if node.is_open:
            self._show_children(at)
        else:
            del self.rows[at + 1 : self._end_of(at)]

    def parent_of(self, at: int) -> int:
        """The row of the container around a row's node; the same row for the root."""
        depth = self.rows[at].depth
        return next((row for row in range(at - 1, -1, -1) if self.rows[row].depth < depth), at)

    def take(self, node: Node, batch: Batch) -> tuple[int, int]:
        """Take in children that were read.

        Returns:
            The row from which on rows have moved, and by how many.
        """
        if node.children and batch.last_end:
            node.children[-1].end = batch.last_end
        node.children += batch.children
        node.is_complete = batch.is_complete
        node.end = node.end or batch.end
        if batch.is_complete:
            node.count = len(node.children)
        if batch.broken >= 0:
            broken = Node("broken", node, len(node.children), batch.broken)
            node.children.append(broken)
        at = next((row for row, one in enumerate(self.rows) if one.kind == "more" and one.parent is node), -1)
        if at < 0:  # it was closed meanwhile
            return 0, 0
        new = [*batch.children, *([node.children[-1]] if batch.broken >= 0 else []), *_rest_of(node)]
        self.rows[at : at + 1] = new
        return at, len(new) - 1

    def _show_children(self, at: int) -> None:
        self.rows[at + 1 : at + 1] = _shown_below(self.rows[at])

    def _end_of(self, at: int) -> int:
        """The first row below that is not within the container of a row."""
        depth = self.rows[at].depth
        return next((row for row in range(at + 1, len(self.rows)) if self.rows[row].depth <= depth), len(self.rows))


def _shown_below(node: Node) -> list[Node]:
    """What stands below a container that is open: children that are open with theirs."""
    shown, waiting = list[Node](), [*reversed([*node.children, *_rest_of(node)])]
    while waiting:
        child = waiting.pop()
        shown.append(child)
        if child.is_open:
            waiting += reversed([*child.children, *_rest_of(child)])
    return shown


def _rest_of(node: Node) -> list[Node]:
    return [] if node.is_complete else [Node("more", node, len(node.children), 0)]
