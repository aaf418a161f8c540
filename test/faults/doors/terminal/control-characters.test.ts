import { forAll, LiveProject } from "../../../helpers/live-project.ts";
import { runAl } from "../../../helpers/scheduler.ts";
import { webhookProject } from "../../../features/webhooks/webhook-project.ts";

/** Retitles the window, clears it, colours, deletes, turns the direction of reading, and types into a shell. */
const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\x08\x7f\u202etxet\u2066x\x90q\x1bP+q\x1b\\";
/** What a terminal acts on; line breaks and tabs are the output's own. */
const acted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const toml = (text: string) => JSON.stringify(text).replace(/\x7f/g, "\\u007f");

let project: LiveProject;
forAll(async () => {
  const agents = { dev: `[[webhooks]]\nsource = "open-github"\n`, odd: "" };
  project = new LiveProject(await webhookProject(agents));
  const command = `printf 'said \\033]0;owned\\007 \\302\\233 \\342\\200\\256 more\\n'`;
  const tool = (name: string, input: string) =>
    `[[turns.tools]]\nname = "${name}"\narguments = { ${input} }\n`;
  const tools =
    tool("bash", `command = ${toml(command)}`) +
    tool("al_status", `text = ${toml(`busy ${evil}`)}`);
  const turns = `[[turns]]\ntext = ${toml(`I say ${evil}.`)}\n${tools}[[turns]]\ntext = "done"\n`;
  await project.write("done.script.toml", turns);
  const head = `name: ${toml(evil)}\ndescription: ${toml(evil)}`;
  await project.write("agents/dev/SKILL.md", `---\n${head}\n---\nDo it.\n`);
  const odd = `models = [${toml(evil)}]\nschedule = ${toml(evil)}\n${toml(evil)} = 1\n`;
  await project.write("agents/odd/config.toml", odd);
  await project.start();
});

async function deliver(): Promise<void> {
  const body = JSON.stringify({
    action: evil,
    issue: { number: 1, title: evil },
    sender: { login: evil },
    repository: { full_name: evil },
  });
  const headers = {
    "x-github-event": "issues",
    "x-github-delivery": "d-1",
    "content-type": "application/json",
  };
  const url = `${project.scheduler.url}/webhooks/github/open-github`;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
}

const commands = `run dev
stat
logs
logs dev
history
doctor --check
stat --json
logs --json
history --json
config odd
run odd
run ${evil}
kill ${evil}
replay ${evil}
logs ${evil}
webhook test ${evil}
add ${evil} --yes
add ssh://nobody.invalid/x --yes`.split("\n");

test(
  "no command prints control characters from untrusted text on a terminal",
  { timeout: 60_000 },
  async () => {
    const { waitForOutput, output } = project.scheduler;
    await deliver();
    await waitForOutput(/dev run (succeeded|failed)/);
    const said = "printf 'remote: \\033]0;owned\\007 \\302\\233 nobody\\n' >&2";
    await project.write("ssh", `#!/bin/sh\n${said}\nexit 1\n`, 0o755);
    const env = { GIT_SSH_COMMAND: project.path("ssh") };
    let shown = "";
    for (const command of commands) {
      const { stdout, stderr } = await runAl(project, command.split(" "), env);
      for (const text of [stdout, stderr])
        expect(acted.exec(text)?.input.slice(-300) ?? null, `al ${command}`).toBeNull();
      shown += stdout + stderr;
    }
    expect(acted.exec(output())).toBeNull();
    // Each of them did come that far.
    for (const text of ["I say ", " more", "remote: "]) expect(shown).toContain(text);
  },
);
