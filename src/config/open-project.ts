/** The project of a command line or a folder. */
import { findConfig, shownPath } from "./find-config.js";
import { noProject, type Project } from "./project.js";

/**
 * Opens the config of `--config FILE`, or else the nearest config from `folder` upwards, and resolves to its
 * project. If there is no config, or `config` is false (`--no-config`), the project is empty. Rejects with a
 * ConfigError for a config that cannot be used.
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
