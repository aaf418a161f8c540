import { execFile } from "node:child_process";

/** Whether the machine knows the OS user; true if that can't be determined. */
export function userExists(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    execFile("id", ["-u", "--", name], { env }, (error) =>
      resolve(typeof error?.code !== "number"),
    );
  });
}
