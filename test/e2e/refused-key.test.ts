import { slowly } from "../helpers/live-project.ts";
import { fakeProvider, refusing, saying } from "../runtime/harness/fake-provider.ts";
import { modelProject } from "./model-project.ts";

test("a key that the provider refuses stops all agents of its model after one call, until another key is stored", async () => {
  const provider = await fakeProvider((seen, response) => {
    const isRenewed = seen.authorization.endsWith("renewed-key");
    const answer = isRenewed ? saying("Done.") : refusing(401, "OAuth token has expired");
    answer(seen, response);
  });
  onTestFinished(() => provider.close());
  const project = await modelProject({ baseUrl: provider.baseUrl });
  for (const file of ["config.toml", "SKILL.md"])
    await project.write(`agents/other/${file}`, await project.read(`agents/asker/${file}`));
  await project.start();
  await project.trigger("asker");
  const shown = async () => {
    const { agents } = await project.json<{ agents: unknown }>("/control/status");
    return JSON.stringify(agents);
  };
  await expect.poll(shown, slowly).toContain("Renew it: al creds add custom_key");
  await project.trigger("other");
  const latest = () => project.latest("other");
  await expect.poll(latest, slowly).toMatchObject({ outcome: "rejected" });
  expect(provider.requests).toHaveLength(1);
  await project.store("custom_key", { key: "renewed-key" });
  await expect.poll(shown, slowly).not.toContain("Renew it");
  await project.trigger("other");
  await expect.poll(latest, slowly).toMatchObject({ outcome: "succeeded" });
});
