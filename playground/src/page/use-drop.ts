/** Files that are dropped on the page. */
import { useEffect } from "preact/hooks";

/**
 * Installs listeners that call `open` with the first file that is dropped on the page. The listeners run in
 * the capture phase, so that the editor does not insert the text of the file.
 */
export function useDrop(open: (file: File) => void): void {
  useEffect(() => {
    const over = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (file === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      open(file);
    };
    // Before the editor, which would take the text of a file.
    addEventListener("dragover", over, true);
    addEventListener("drop", drop, true);
    return () => {
      removeEventListener("dragover", over, true);
      removeEventListener("drop", drop, true);
    };
  }, []);
}
