/** An event as it came over the wire. */
export interface WireEvent {
  readonly event: string;
  readonly id: string;
  readonly data: unknown;
}

/** Opens a stream and reads it until the test is over. */
export async function readStream(url: string, headers: Record<string, string>) {
  const abort = new AbortController();
  onTestFinished(() => abort.abort());
  const response = await fetch(url, { headers, signal: abort.signal });
  let text = "";
  let isEnded = false;
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => (isEnded = true));
  return {
    status: response.status,
    headers: response.headers,
    /** Everything so far, as it came. */
    text: (): string => text,
    events: (): readonly WireEvent[] => eventsOf(text),
    isEnded: (): boolean => isEnded,
    close: () => abort.abort(),
  };
}

function eventsOf(text: string): readonly WireEvent[] {
  return text.split("\n\n").flatMap((block) => {
    const fields = new Map(
      block.split("\n").map((line) => {
        const colon = line.indexOf(": ");
        return [line.slice(0, colon), line.slice(colon + 2)] as const;
      }),
    );
    const data = fields.get("data");
    if (data === undefined) return [];
    const parsed = JSON.parse(data) as unknown;
    return [{ event: fields.get("event") ?? "", id: fields.get("id") ?? "", data: parsed }];
  });
}
