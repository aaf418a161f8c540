import { chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { openerOf } from "../../../src/interfaces/cli/operator/open-dashboard.ts";
import { cliProject, refusal } from "./fake-operator.ts";

const cli = cliProject();
const url = `http://localhost:8080/login/${"t".repeat(22)}`;
const link = { url, expiresAt: "2030-01-01T00:00:00.000Z" };
beforeEach(() => cli.serve({ "POST /control/login-link": link }));

/** An environment with a screen and an opener, a shell script that also writes its arguments down. */
function withOpener(script: string) {
  const opener = cli.write("bin/xdg-open", `#!/bin/sh\necho "$@" > $0.args\n${script}\n`);
  chmodSync(opener, 0o755);
  const PATH = `${dirname(opener)}:${process.env.PATH ?? ""}`;
  const args = `${opener}.args`;
  return {
    env: { PATH, DISPLAY: ":0", SSH_CONNECTION: "" },
    opened: () => (existsSync(args) ? readFileSync(args, "utf8").trim() : ""),
  };
}

test("al open opens a private file that redirects to the login link, so that no other program sees the link", async () => {
  // The browser stays open, and is not waited for.
  const { env, opened } = withOpener("exec sleep 20");
  const stdout = "opened http://localhost:8080/dashboard\n";
  expect(await cli.al("open", env)).toEqual({ code: 0, stdout, stderr: "" });
  const page = join(cli.projectDir, ".al/open.html");
  expect(opened()).toBe(page);
  expect(statSync(page).mode & 0o777).toBe(0o600);
  expect(readFileSync(page, "utf8")).toContain(`content="0; url=${url}"`);
});

test.each([
  ["if the opener fails", "open", {}, "exit 3"],
  ["without a display", "open", { DISPLAY: "" }, "exit 0"],
  ["with --print", "open --print", {}, "exit 0"],
])("al open prints the login link %s", async (_when, line, more, script) => {
  const { env } = withOpener(script);
  const stderr = "the link logs in once, within 10 minutes\n";
  expect(await cli.al(line, { ...env, ...more })).toEqual({ code: 0, stdout: `${url}\n`, stderr });
});

test("al open --json prints the link and opens nothing", async () => {
  const { env, opened } = withOpener("exit 0");
  expect(JSON.parse(await cli.output("open --json", env))).toEqual(link);
  expect(opened()).toBe("");
});

test("al open says how to enable a disabled dashboard", async () => {
  cli.operator.routes["POST /control/login-link"] = refusal(409, "no_dashboard");
  await cli.fails("open", "al start --web-ui");
});

test.each([
  [{ DISPLAY: ":0" }, "linux", "xdg-open"],
  [{ WAYLAND_DISPLAY: "wayland-0" }, "linux", "xdg-open"],
  [{ DISPLAY: "" }, "linux", null],
  [{}, "darwin", "open"],
  [{ SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, "darwin", null],
] as const)("openerOf with the environment %j on %s returns %s", (env, platform, opener) =>
  expect(openerOf(env, platform)).toBe(opener),
);
