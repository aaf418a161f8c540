import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openerOf } from "../../../src/interfaces/cli/operator/open-dashboard.ts";
import { cliProject, problem } from "./fake-operator.ts";

const url = `http://localhost:8080/login/${"t".repeat(22)}`;
const link = { url, expiresAt: "2030-01-01T00:00:00.000Z" };

const cli = cliProject();

beforeEach(async () => {
  await cli.serve({ "POST /control/login-link": () => link });
});

/** An environment with a screen and an opener, a shell script that also writes its arguments down. */
function withOpener(script: string): { env: NodeJS.ProcessEnv; opened: () => string } {
  const bin = join(cli.projectDir, "bin");
  const args = join(bin, "args");
  mkdirSync(bin);
  writeFileSync(join(bin, "xdg-open"), `#!/bin/sh\necho "$@" > ${args}\n${script}\n`);
  chmodSync(join(bin, "xdg-open"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}`, DISPLAY: ":0", SSH_CONNECTION: "" };
  return { env, opened: () => (existsSync(args) ? readFileSync(args, "utf8").trim() : "") };
}

test("al open opens a private page that leads to the link, and shows the link to no other program", async () => {
  const { env, opened } = withOpener("exit 0");
  const { code, stdout, stderr } = await cli.al(["open"], env);
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: "opened http://localhost:8080/dashboard\n",
    stderr: "",
  });
  const page = join(cli.projectDir, ".al/open.html");
  expect(opened()).toBe(page);
  expect(statSync(page).mode & 0o777).toBe(0o600);
  expect(readFileSync(page, "utf8")).toContain(`content="0; url=${url}"`);
});

test("al open does not wait for a browser that stays open", async () => {
  const { env } = withOpener("exec sleep 20");
  const startedAt = performance.now();
  expect((await cli.al(["open"], env)).stdout).toContain("opened");
  expect(performance.now() - startedAt).toBeLessThan(15_000);
});

test("al open prints the link when the opener fails", async () => {
  const { env } = withOpener("exit 3");
  const { code, stdout, stderr } = await cli.al(["open"], env);
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${url}\n` });
  expect(stderr).toBe("the link logs in once, within 10 minutes\n");
});

test("al open prints the link without a screen, and with --print", async () => {
  const { env, opened } = withOpener("exit 0");
  for (const [args, more] of [
    [["open"], { ...env, DISPLAY: "" }],
    [["open", "--print"], env],
  ] as const) {
    expect((await cli.al([...args], more)).stdout).toBe(`${url}\n`);
  }
  expect(opened()).toBe("");
});

test("al open --json prints the link and opens nothing", async () => {
  const { env, opened } = withOpener("exit 0");
  const { stdout } = await cli.al(["open", "--json"], env);
  expect(JSON.parse(stdout)).toEqual(link);
  expect(opened()).toBe("");
});

test("al open without the dashboard names how to enable it", async () => {
  cli.operator.routes["POST /control/login-link"] = (_asked, response) =>
    problem(response, 409, "no_dashboard", "The scheduler runs without the dashboard.");
  const stderr = await cli.failure(["open"]);
  expect(stderr).toContain("al start --web-ui");
});

test("a browser is opened by the system's own program, and not over SSH", () => {
  expect(openerOf({ DISPLAY: ":0" }, "linux")).toBe("xdg-open");
  expect(openerOf({ WAYLAND_DISPLAY: "wayland-0" }, "linux")).toBe("xdg-open");
  expect(openerOf({ DISPLAY: "" }, "linux")).toBeNull();
  expect(openerOf({}, "darwin")).toBe("open");
  expect(openerOf({ SSH_CONNECTION: "10.0.0.1 1 10.0.0.2 22" }, "darwin")).toBeNull();
});
