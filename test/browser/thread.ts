/** A thread of the fast executor in a browser: it serves the first message it is sent. */
import { serveThread, type ThreadMessage } from "../../backends/sim/index.js";

addEventListener("message", (event: MessageEvent<ThreadMessage>) => {
  serveThread(event.data);
});
