import type { ModelFailure } from "../../../../src/runtime/wire/protocol.ts";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Behaviour {
  /** Printed one per line: objects as JSON, texts as they are. */
  readonly stream?: readonly unknown[];
  readonly stderr?: string;
  readonly exitCode?: number;
  /** Why its last call to the model failed, as the gateway sees it. */
  readonly failure?: ModelFailure | undefined;
  /** How many calls failed in a row by then. */
  readonly failures?: number;
  /** Shell code that runs at the end, before it exits. */
  readonly then?: string;
}

/** Puts a program called `name` into a folder of its own: it notes how it was started and plays its part. */
export async function standIn(dir: string, name: string, play: Behaviour) {
  const bin = join(dir, "bin");
  await mkdir(bin, { recursive: true });
  const lines = (play.stream ?? []).map((line) =>
    typeof line === "string" ? line : JSON.stringify(line),
  );
  const at = (file: string) => join(bin, `${name}.${file}`);
  await writeFile(at("stream"), lines.map((line) => `${line}\n`).join(""));
  await writeFile(at("stderr"), play.stderr ?? "");
  // claude gets its prompt as a line, and its input stays open.
  const readInput = name === "claude" ? "head -n 1" : "cat";
  const script = `#!/bin/sh
printf '%s\\0' "$@" > "${at("args")}"
env -0 > "${at("env")}"
${readInput} > "${at("input")}"
cat "${at("stream")}"
cat "${at("stderr")}" >&2
${play.then ?? ""}
exit ${play.exitCode ?? 0}
`;
  await writeFile(join(bin, name), script, { mode: 0o755 });
  const parts = async (file: string) => (await readFile(at(file), "utf8")).split("\0").slice(0, -1);
  return {
    /** PATH that finds it first. */
    path: `${bin}:${process.env.PATH ?? ""}`,
    /** The arguments it was started with. */
    args: (): Promise<readonly string[]> => parts("args"),
    env: async (): Promise<Readonly<Record<string, string>>> => {
      const entries = (await parts("env")).map((entry) => {
        const [key = "", ...value] = entry.split("=");
        return [key, value.join("=")];
      });
      return Object.fromEntries(entries) as Record<string, string>;
    },
    /** The prompt that came on its standard input. */
    input: async (): Promise<string> => {
      const text = await readFile(at("input"), "utf8");
      if (name !== "claude") return text;
      const line = JSON.parse(text) as { message: { content: readonly { text: string }[] } };
      return line.message.content[0]?.text ?? "";
    },
  };
}
