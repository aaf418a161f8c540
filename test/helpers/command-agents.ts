import { LiveProject } from "./live-project.ts";

/** Lines of an agent's config: a run of the scheduler's own user. */
export const ownUser = '[runtime]\ntype = "host-user"\nrun_as = "$USER"\n';

/**
 * A project of agents each of whose runs is one command of its shell; `given` is handed the project's folder. A stand-in
 * for Gemini CLI runs the command, which takes a third of the CPU time that pi takes to play a script.
 */
export async function commandAgents(
  given: (dir: string) => Readonly<Record<string, string>>,
): Promise<LiveProject> {
  const project = await LiveProject.of({
    "project/config.toml": `[models.m]\nprovider = "google"\nmodel = "gemini-2.5-pro"\nauthType = "none"\nbaseUrl = "http://127.0.0.1:9"\n`,
  });
  for (const [name, command] of Object.entries(given(project.dir))) {
    const program = project.path(`bin/${name}/gemini`);
    await project.write(`bin/${name}/gemini`, standIn(command), 0o755);
    await project.write(
      `agents/${name}/config.toml`,
      `models = ["m"]\ncredentials = []\ncallable = true\ntimeout = 120\n${ownUser}[harness]\ntype = "llm-cli"\ncommand = "${program}"\n`,
    );
    await project.write(`agents/${name}/SKILL.md`, "Do it.\n");
  }
  return project;
}

/** Lines that aren't JSON objects are the output of the command, which the run's log has. */
function standIn(command: string): string {
  const call = { type: "tool_use", tool_name: "bash", tool_id: "1", parameters: { command } };
  const text = { type: "message", role: "assistant", content: "done" };
  const print = (event: object) => `cat <<'EVENT'\n${JSON.stringify(event)}\nEVENT\n`;
  return `#!/bin/sh
cat > /dev/null
${print(call)}( ${command} ) 2>&1
${print({ type: "tool_result", tool_id: "1", status: "success", output: "" })}${print(text)}${print({ type: "result", status: "success", stats: { total_tokens: 7 } })}`;
}

/** Shell that waits for a file. */
export const until = (path: string) => `while [ ! -e '${path}' ]; do sleep 0.1; done`;
