import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connectProxy } from "../helpers/connect-proxy.ts";
import { certificateFor, startGitHttpsServer } from "../helpers/git-https-server.ts";
import { makeRepository } from "../helpers/git-repository.ts";
import { tempDir } from "../helpers/temp-dir.ts";

/**
 * A repository at `https://<host>/<path>`, for those who have one of the tokens, until the test ends; and the environment
 * of a scheduler for which it is behind a proxy.
 */
export async function outsideGit(host: string, path: string, tokens: readonly string[]) {
  const repository = makeRepository();
  const link = join(repository.root, path);
  mkdirSync(dirname(link), { recursive: true });
  if (link !== repository.path) symlinkSync(repository.path, link);
  const certificate = certificateFor(`DNS:${host}`);
  const server = await startGitHttpsServer(repository.root, tempDir(), tokens, certificate);
  const proxy = await connectProxy(Number(server.host.split(":")[1]));
  const file = join(tempDir(), "ca.pem");
  writeFileSync(file, certificate.cert);
  onTestFinished(async () => {
    await proxy.close();
    await server.stop();
    repository.remove();
  });
  const env = { HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: file, GIT_SSL_CAINFO: file };
  return { repository, server, env };
}
