import { ward } from "./support.ts";

test("the doctor names agents with a checkout whose pushes are not read", async () => {
  const found = () => ward.found("workspace");
  expect(await found()).toEqual([]);
  ward.toAgent('[workspace]\ngit = "git@github.com:acme/website.git"');
  const where = "agents/dev/config.toml [workspace]";
  const ofSsh = "[workspace].push does not limit the runs of dev, because git pushes over SSH";
  expect(await found()).toMatchObject([
    { severity: "ok" },
    { severity: "note", what: ofSsh, where, fix: "protect the branches at the host" },
  ]);
  ward.edit("agents/dev/config.toml", "git@github.com:", "https://github.com/");
  expect(await found()).toMatchObject([{ severity: "ok" }]);
  ward.toAgent('[local]\nnetwork = "bridge"');
  expect(await found()).toMatchObject([
    { severity: "ok" },
    { what: "[workspace].push does not limit the runs of dev, because its network is open" },
  ]);
});
