import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { runAl, startTestScheduler, type TestScheduler } from "../../../helpers/scheduler.ts";
import { webhookProject } from "../../../features/webhooks/webhook-project.ts";

/** Retitles the window, clears it, colours, deletes, turns the direction of reading, and types into a shell. */
const evil = "\x1b]0;owned\x07\x1b[2J\u009b31m\x08\x7f\u202etxet\u2066x\x90q\x1bP+q\x1b\\";
/** What a terminal acts on; line breaks and tabs are the output's own. */
const acted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const toml = (text: string) => JSON.stringify(text).replace(/\x7f/g, "\\u007f");

let scheduler: TestScheduler;
beforeAll(async () => {
  const project = await webhookProject({ dev: `[[webhooks]]\nsource = "open-github"\n`, odd: "" });
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(project.dir, path)), { recursive: true });
    await writeFile(join(project.dir, path), text);
  };
  const command = `printf 'said \\033]0;owned\\007 \\302\\233 \\342\\200\\256 more\\n'`;
  await write(
    "done.script.toml",
    `[[turns]]\ntext = ${toml(`I say ${evil}.`)}\n[[turns.tools]]\nname = "bash"\narguments = { command = ${toml(command)} }\n[[turns.tools]]\nname = "al_status"\narguments = { text = ${toml(`busy ${evil}`)} }\n[[turns]]\ntext = "done"\n`,
  );
  await write(
    "agents/dev/SKILL.md",
    `---\nname: ${toml(evil)}\ndescription: ${toml(evil)}\n---\nDo it.\n`,
  );
  await write(
    "agents/odd/config.toml",
    `models = [${toml(evil)}]\nschedule = ${toml(evil)}\n${toml(evil)} = 1\n`,
  );
  scheduler = await startTestScheduler(project);
});
afterAll(async () => {
  await scheduler.stop();
  await scheduler.project.remove();
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
  const answer = await fetch(`${scheduler.url}/webhooks/github/open-github`, {
    method: "POST",
    headers,
    body,
  });
  expect(answer.status).toBe(200);
}

test(
  "untrusted text on a terminal has no control characters in any command",
  { timeout: 60_000 },
  async () => {
    await deliver();
    await scheduler.waitForOutput(/dev run (succeeded|failed)/);
    const commands = [
      ["run", "dev"],
      ["stat"],
      ["logs"],
      ["logs", "dev"],
      ["history"],
      ["doctor", "--check"],
      ["stat", "--json"],
      ["logs", "--json"],
      ["history", "--json"],
      ["config", "odd"],
      ["run", "odd"],
      ["run", evil],
      ["kill", evil],
      ["replay", evil],
      ["logs", evil],
      ["webhook", "test", evil],
      ["add", evil, "--yes"],
      ["add", "ssh://nobody.invalid/x", "--yes"],
    ];
    const ssh = join(scheduler.project.dir, "ssh");
    await writeFile(
      ssh,
      `#!/bin/sh\nprintf 'remote: \\033]0;owned\\007 \\302\\233 nobody\\n' >&2\nexit 1\n`,
    );
    await chmod(ssh, 0o755);
    let shown = "";
    for (const args of commands) {
      const { stdout, stderr } = await runAl(scheduler.project, args, { GIT_SSH_COMMAND: ssh });
      const name = `al ${args.join(" ")}`;
      expect(acted.exec(stdout)?.input.slice(-300) ?? null, name).toBeNull();
      expect(acted.exec(stderr)?.input.slice(-300) ?? null, name).toBeNull();
      shown += stdout + stderr;
    }
    expect(acted.exec(scheduler.output())).toBeNull();
    // Each of them did come that far.
    for (const text of ["I say ", " more", "remote: "]) expect(shown).toContain(text);
  },
);
