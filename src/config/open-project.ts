/** The project of a command line or a folder. */
import { findConfig, shownPath } from "./find-config.js";
import { noProject, type Project } from "./project.js";

/**
 * Resolves to the project of the config file that `--config` names, or of the nearest config file from
 * `folder` upwards. The project is empty if there is no config file or `config` is false. Rejects with a
 * ConfigError if the config cannot be used.
 */
export async function openProject(
  config: string | false | undefined,
  folder: string = process.cwd(),
): Promise<Project> {
  if (config === false) return { ...noProject, flags: ["--no-config"] };
  const file = config ?? findConfig(folder);
  if (file === undefined) return noProject;
  // It loads passes, backends and what reads TypeScript: for those who have a config.
  const { loadProject } = await import("./load-project.js");
  return config === undefined
    ? loadProject(file, shownPath(file))
    : { ...(await loadProject(file, file)), flags: ["--config", file] };
}
