/** Starts `tilec lsp` for .tir files: diagnostics, quick fixes, hover, definitions and formatting. */
import { window, workspace } from "vscode";
import { LanguageClient } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

/** Where no server starts, highlighting is left, and a message says how to get one. */
export async function activate(): Promise<void> {
  const [command = "npx", ...args] = workspace.getConfiguration("tilec").get<string[]>("command") ?? [];
  const cwd = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server = { command, args: [...args, "lsp"], options: cwd === undefined ? {} : { cwd } };
  client = new LanguageClient("tilec", "tilec", server, {
    documentSelector: [{ language: "tir" }],
    // A config of the workspace runs code.
    initializationOptions: { trusted: workspace.isTrusted },
  });
  try {
    await client.start();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    void window.showWarningMessage(
      `tilec lsp did not start (${why}): npm install tilec, or set tilec.command`,
    );
  }
}

export const deactivate = (): Promise<void> | undefined => client?.stop();
