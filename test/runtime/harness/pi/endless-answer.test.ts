import { fakeProvider, saying } from "../fake-provider.ts";
import { aModel } from "../jobs.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const mebibyte = 1024 * 1024;

test("a model's endless answer is cut at 64 MiB, and the next model answers instead", async () => {
  let sent = 0;
  const endless = await fakeProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const event = `: ${"x".repeat(mebibyte)}\n\n`;
    const more = (): void => {
      // The test fails without an endless loop.
      while (!response.destroyed && sent < 256 && response.write(event)) sent += 1;
      if (sent >= 256) response.end();
    };
    response.on("drain", more);
    more();
  });
  const good = await fakeProvider(saying("From the backup."));
  onTestFinished(async () => void (await Promise.all([endless.close(), good.close()])));
  const models = [aModel("first", endless.baseUrl), aModel("backup", good.baseUrl)];
  const { error, usage, log } = await runSession({ workDir: tempDir(), models });
  expect(error).toBeNull();
  expect(usage.model).toBe("backup");
  expect(log).toContain('model "first" failed (the answer was longer than 64 MiB)');
  expect(log).not.toContain("scheduler went away");
  expect(endless.requests).toHaveLength(1);
});
