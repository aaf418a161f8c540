import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import type { QuestionView } from "../../src/foundation/contracts/question-views.ts";
import { ownUser } from "../helpers/command-agents.ts";
import { certificateFor } from "../helpers/git-https-server.ts";
import { scriptedAgents } from "../helpers/scripted-agents.ts";
import { withOutside } from "../helpers/outside.ts";
import { whyNoNetwork } from "../runtime/runners/host-user/network-namespaces.ts";
import { noteSkipped } from "../helpers/note-skipped.ts";
import { listen } from "../helpers/listen.ts";

const noNetwork = whyNoNetwork();
noteSkipped("attacks of host users", noNetwork);

/** Where the host that needs approval stands, and a host that does not, on the same server. */
const address = "203.0.113.10";

/** Sends two requests in one piece over one connection, the second one to the held host; three forms at once. */
const split = `
const { hostname, port, username, password } = new URL(process.env.HTTP_PROXY);
const login = "Proxy-Authorization: Basic " + Buffer.from(username + ":" + password).toString("base64");
const head = (method, path, more = "") => method + " " + path + " HTTP/1.1\\r\\nHost: cdn.pay.test\\r\\n" + login + "\\r\\n" + more + "\\r\\n";
const held = head("GET", "http://api.pay.test/split");
const forms = [
  head("GET", "http://cdn.pay.test/ok") + held,
  head("POST", "http://cdn.pay.test/ok", "Content-Length: 0\\r\\nTransfer-Encoding: chunked\\r\\n") + "0\\r\\n\\r\\n" + held,
  head("POST", "http://cdn.pay.test/ok", "Content-Length: " + held.length + "\\r\\n") + held,
];
Promise.all(forms.map(async (form) => {
  const socket = require("net").connect(Number(port), hostname, () => socket.write(form));
  let text = "";
  socket.on("data", (bytes) => (text += bytes)).on("error", () => undefined);
  setTimeout(() => socket.end(), 1500);
  await new Promise((resolve) => socket.on("close", resolve));
  return [...text.matchAll(/HTTP\\/1.1 (\\d+)/g)].map((match) => match[1]).join("+");
})).then((statuses) => console.log("split: " + statuses.join(" ")));
`;

/** The attempts that are refused without a question, one that a person allows once, and those that come after it. */
const attack = (gateway: string, upstream: readonly number[]) => `
ask() { name=$1; shift; echo "$name: $(curl -ksS -o answer -w '%{http_code}/%{http_connect}' --max-time 60 "$@" 2>error; true) $(head -c 100 error)"; }
direct() { ask "$@" --noproxy '*'; }
direct direct https://127.0.0.1:${upstream[0]}/direct
direct plain http://127.0.0.1:${upstream[1]}/direct
direct address --connect-timeout 2 https://${address}/direct
ask literal https://${address}/literal
ask number https://3405803786/number
ask alias https://pay.test/alias
ask port https://api.pay.test:8443/port
ask user http://cdn.pay.test@api.pay.test:8080/user
ask sni --connect-to api.pay.test:443:cdn.pay.test:443 https://api.pay.test/sni
ask front -H 'Host: api.pay.test' http://cdn.pay.test/front
ask gateway --noproxy '' ${gateway}/api/questions
ask loopback --noproxy '' ${gateway.replace("localhost", "127.0.0.1")}/api/questions
direct api ${gateway}/api/questions
ask answer -X POST -d '{"answer":"always"}' -H 'content-type: application/json' $(echo $HTTP_PROXY | sed 's/[^/]*@//')/api/questions
ask once https://api.pay.test./once
ask case https://API.Pay.TEST/case
ask again https://api.pay.test/again
ask http http://api.pay.test/http
node -e '${split.replaceAll("'", "'\\''")}'
echo "{}" > context; al-subagent helper < context || echo "call: failed"
`;
const helper = `curl -ksS -o /dev/null -w 'helper: %{http_code}/%{http_connect}\\n' https://api.pay.test/helper || true`;

test.skipIf(noNetwork !== null)("a run can't bypass a required approval", expectHeld, 240_000);

/** What comes of each attempt. */
const ends = {
  // Without the proxy there is no network.
  direct: "000/000",
  plain: "000/000",
  address: "000/000",
  api: "000/000",
  // The proxy refuses what no list names, and the scheduler's own gateway.
  literal: "000/403",
  number: "000/403",
  alias: "000/403",
  port: "000/403",
  user: "403/000",
  gateway: "403/000",
  loopback: "403/000",
  answer: "401/000",
  // A tunnel is cut; a request to another host arrives as one to that host.
  sni: "000/200",
  front: "200/000",
  once: "200/200",
  case: "000/403",
  again: "000/403",
  http: "403/000",
  // The second request is held by itself, is no request, or is the body of the first.
  split: "200+403 400 200",
};

async function expectHeld(): Promise<void> {
  const agent = (name: string, more: string) =>
    `[network]\nallow = ${more}${ownUser}[hooks]\npre = ["bash scripts/${name}.sh"]\n`;
  const gate = '[approve]\nhosts = ["*.pay.test:80", "api.pay.test"]\n';
  const project = await scriptedAgents({
    payer: { config: agent("attack", `["cdn.pay.test", "cdn.pay.test:80"]\n${gate}`) },
    helper: {
      config: agent("help", '["api.pay.test"]\n'),
      files: { "scripts/help.sh": helper },
    },
  });
  const [seen, allowed] = [[] as string[], ["cdn.pay.test/front"]];
  const notReached = (): void => expect(seen.filter((one) => !allowed.includes(one))).toEqual([]);
  const certificate = certificateFor("DNS:api.pay.test,DNS:cdn.pay.test");
  const answer: RequestListener = ({ headers, url }, response) => {
    seen.push(`${headers.host ?? ""}${url ?? ""}`);
    response.end("paid");
  };
  const ports: number[] = [];
  for (const server of [createServer(certificate, answer), createHttpServer(answer)]) {
    onTestFinished(() => void server.close());
    ports.push(await listen(server));
  }
  const [tls = 1, plain = 1] = ports;
  const names = ["api.pay.test", "cdn.pay.test", "pay.test"];
  const env = withOutside({
    addresses: Object.fromEntries(names.map((name) => [name, address])),
    ports: { [address]: tls, [`${address}:80`]: plain },
  });
  const { url } = await project.start({ env });
  await project.write("agents/payer/scripts/attack.sh", attack(url, ports));

  const run = project.print("run", "payer");
  type Questions = Readonly<Record<"questions", readonly QuestionView[]>>;
  const open = async () =>
    (await project.json<Questions>("/api/questions?state=open")).questions[0];
  const decide = async (subject: string, by: string, given: string): Promise<void> => {
    const asked = { subject, agent: by, kind: "host" };
    await expect.poll(open, { timeout: 90_000 }).toMatchObject(asked);
    const { id = "" } = (await open()) ?? {};
    await project.post(`/api/questions/${id}/answer`, { answer: given });
  };
  await expect.poll(open, { timeout: 120_000 }).toBeDefined();
  notReached();
  await decide("api.pay.test", "payer", "once");
  await decide("api.pay.test", "payer", "deny");
  await decide("api.pay.test:80", "payer", "deny");
  allowed.push("api.pay.test./once", "cdn.pay.test/ok");
  await decide("api.pay.test", "helper", "deny");
  const lines = (await run).matchAll(/INFO +([a-z]+): (\d{3}\S*(?: \d+)*)/g);
  expect(Object.fromEntries([...lines].map(([, name, text]) => [name, text]))).toEqual(ends);
  await expect.poll(() => project.messages("helper", "hook")).toContain("helper: 000/403");
  notReached();
  expect((await project.json<Questions>("/api/questions")).questions).toHaveLength(4);
}
