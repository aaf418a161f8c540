import { proxyLogin } from "../../../../src/runtime/run-api/http-proxy.ts";
import { ownProxy } from "../../../../src/runtime/run-api/egress/admit.ts";

const https_proxy = "http://proxy.test:3128";
const asked = { host: "api.allowed.test", port: 443 };
const proxied = (no_proxy: string, host = asked.host, port = asked.port) =>
  ownProxy({ https_proxy, no_proxy }, "https", { host, port }) !== null;

test("the scheduler's own proxy is that of the scheme, in lower or upper case", () => {
  const env = { HTTPS_PROXY: "http://a.test:1", HTTP_PROXY: "http://b.test:2" };
  expect(ownProxy(env, "https", asked)?.host).toBe("a.test:1");
  expect(ownProxy(env, "http", asked)?.host).toBe("b.test:2");
  expect(ownProxy({ ...env, https_proxy }, "https", asked)?.host).toBe("proxy.test:3128");
  for (const other of ["", "socks5://a.test:1", "a.test"]) {
    expect(ownProxy({ HTTPS_PROXY: other }, "https", asked)).toBeNull();
  }
  expect(ownProxy({}, "https", asked)).toBeNull();
});

test.each([
  "*",
  "api.allowed.test",
  ".allowed.test",
  "*.allowed.test",
  "x.test, .test",
  "API.allowed.test:443",
])("the scheduler's own proxy is not used for hosts that %s excepts", (entry) =>
  expect(proxied(entry)).toBe(false),
);

test.each(["", ",", "allowed.test", "api.allowed.test:80", ".api.allowed.test", "pi.allowed.test"])(
  "the scheduler's own proxy is used for hosts that %j does not except",
  (entry) => expect(proxied(entry)).toBe(true),
);

test("the scheduler's own proxy is not used for excepted addresses", () => {
  expect(proxied("2001:db8::1", "2001:db8::1")).toBe(false);
  expect(proxied("[2001:db8::1]:443", "2001:db8::1")).toBe(false);
  expect(proxied("10.0.0.1:443", "10.0.0.1", 443)).toBe(false);
  expect(proxied("10.0.0.1:443", "10.0.0.1", 80)).toBe(true);
});

test("the scheduler's own proxy gets its user and password decoded", () => {
  expect(proxyLogin(new URL("http://user:p%2Dw@proxy.test"))).toBe(`Basic ${btoa("user:p-w")}`);
  expect(proxyLogin(new URL("http://proxy.test"))).toBeNull();
});
