import { openApp } from "../start-gateway.ts";

test("a file of a memory is sent byte for byte as an attachment that no page of the dashboard can run", async () => {
  const { get, operations } = await openApp();
  const { memory } = operations;
  const text = '<script>alert("\u00e9")</script>';
  memory.add("dev", [memory.file("notes/é 1.html", "old")], [memory.file("notes/é 1.html", text)]);
  const url = "/api/agents/dev/memory/files/notes/%C3%A9%201.html";
  const { statusCode, headers, body } = await get(url);
  expect([statusCode, body]).toEqual([200, text]);
  expect(headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": String(Buffer.byteLength(text)),
    "content-disposition": "attachment; filename*=UTF-8''%C3%A9%201.html",
    "content-security-policy": "default-src 'none';frame-ancestors 'none';sandbox",
    "x-content-type-options": "nosniff",
  });
  expect((await get(url.replace("/notes/", "/notes%2F"))).body).toBe(text);
  expect((await get(`${url}?version=1`)).body).toBe("old");
  expect((await get(`${url}?version=3`)).json()).toMatchObject({ error: "unknown_version" });
  for (const path of ["/..%2f..%2fconfig.toml", "", "/none"]) {
    const { statusCode: status } = await get(`/api/agents/dev/memory/files${path}`);
    expect([path, status]).toEqual([path, 404]);
  }
});
