/** Arrow keys on the cells of a map: one cell is a tab stop, and the arrows move it. */

const directions: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const middleOf = (element: Element): readonly [x: number, y: number] => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return [(left + right) / 2, (top + bottom) / 2];
};

/**
 * Returns the nearest cell in the direction of an arrow key from the cell `from`. A distance across the
 * direction counts four times as much as a distance along it. Returns undefined for another key, or if no
 * cell lies in that direction.
 */
export function cellBeside<T extends Element>(cells: readonly T[], from: T, key: string): T | undefined {
  const direction = directions[key];
  if (direction === undefined) return undefined;
  const [across, down] = direction;
  const [x, y] = middleOf(from);
  let nearest: { readonly cell: T; readonly away: number } | undefined;
  for (const cell of cells) {
    const [cellX, cellY] = middleOf(cell);
    const ahead = (cellX - x) * across + (cellY - y) * down;
    const aside = Math.abs((cellX - x) * down) + Math.abs((cellY - y) * across);
    const away = ahead + 4 * aside;
    if (ahead > 1 && (nearest === undefined || away < nearest.away)) nearest = { cell, away };
  }
  return nearest?.cell;
}

/** Makes one cell the only tab stop (element in the keyboard's tab order) of a map. */
export function makeTabStop(cells: readonly Element[], stop: Element | undefined): void {
  for (const cell of cells) cell.setAttribute("tabindex", cell === stop ? "0" : "-1");
}
