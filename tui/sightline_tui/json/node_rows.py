"""Decides which nodes of a JSON text stand on which rows. It reads nothing, and knows nothing of the screen."""

from sightline_tui.json.nodes import NextChildren, TreeNode


class JsonRows:
    """The rows of a tree.

    Attributes:
        rows: the nodes, in order.
    """

    def __init__(self, root: TreeNode) -> None:
        self.rows: list[TreeNode] = [root]
        self._show_children(0)

    def __len__(self) -> int:
        return len(self.rows)

    def wanted(self, first: int, last: int) -> TreeNode | None:
        """Return a container with children on these rows that are not read yet; None if all are."""
        for node in self.rows[max(first, 0) : last + 1]:
            if node.kind == "more":
                return node.parent
        return None

    def toggle(self, at: int) -> None:
        """Show or hide the content of the container on a row."""
        node = self.rows[at]
        if not node.is_container or node.count == 0:
            return
        node.is_open = not node.is_open
        if node.is_open:
            self._show_children(at)
        else:
            del self.rows[at + 1 : self._end_of(at)]

    def parent_of(self, at: int) -> int:
        """Return the row of the container around a row's node; for the root, its own row."""
        depth = self.rows[at].depth
        return next((row for row in range(at - 1, -1, -1) if self.rows[row].depth < depth), at)

    def take(self, node: TreeNode, batch: NextChildren) -> tuple[int, int]:
        """Take in children that were read.

        Returns:
            The row from which rows have moved, and by how many.
        """
        if node.children and batch.last_end:
            node.children[-1].end = batch.last_end
        node.children += batch.children
        node.is_complete = batch.is_complete
        node.end = node.end or batch.end
        if batch.is_complete:
            node.count = len(node.children)
        if batch.broken >= 0:
            broken = TreeNode("broken", node, len(node.children), batch.broken)
            node.children.append(broken)
        at = next((row for row, one in enumerate(self.rows) if one.kind == "more" and one.parent is node), -1)
        if at < 0:  # the container was folded meanwhile
            return 0, 0
        new = [*batch.children, *([node.children[-1]] if batch.broken >= 0 else []), *_rest_of(node)]
        self.rows[at : at + 1] = new
        return at, len(new) - 1

    def _show_children(self, at: int) -> None:
        self.rows[at + 1 : at + 1] = _shown_below(self.rows[at])

    def _end_of(self, at: int) -> int:
        """Return the first row below that is outside the container of a row."""
        depth = self.rows[at].depth
        return next((row for row in range(at + 1, len(self.rows)) if self.rows[row].depth <= depth), len(self.rows))


def _shown_below(node: TreeNode) -> list[TreeNode]:
    """Return the nodes that are visible below an open container."""
    shown, waiting = list[TreeNode](), [*reversed([*node.children, *_rest_of(node)])]
    while waiting:
        child = waiting.pop()
        shown.append(child)
        if child.is_open:
            waiting += reversed([*child.children, *_rest_of(child)])
    return shown


def _rest_of(node: TreeNode) -> list[TreeNode]:
    return [] if node.is_complete else [TreeNode("more", node, len(node.children), 0)]
