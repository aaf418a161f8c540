import { useEffect, useState } from "react";
import type { StatusSnapshot } from "../../../streams/status/wire.ts";
import type { ViewSource } from "./view-source.ts";

/** The status as the scheduler holds it, read again whenever it says that it changed. */
export function useStatus(operations: ViewSource["operations"]): StatusSnapshot {
  const [snapshot, setSnapshot] = useState(() => operations.snapshot());
  useEffect(() => {
    const updates = operations.update$.subscribe(() => setSnapshot(operations.snapshot()));
    // What changed between the first look and the subscription.
    setSnapshot(operations.snapshot());
    return () => updates.unsubscribe();
  }, [operations]);
  return snapshot;
}

/** The time, epoch ms, anew every second: the times on the screen are relative to it. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** When runs that still go on are ended, epoch ms; null while the scheduler doesn't stop. */
export function useEndsAt({ operations, graceSeconds }: ViewSource): number | null {
  const isStopping = operations.phase() === "draining";
  const [endsAt, setEndsAt] = useState<number | null>(null);
  useEffect(() => {
    setEndsAt(isStopping ? Date.now() + graceSeconds * 1000 : null);
  }, [isStopping, graceSeconds]);
  return endsAt;
}
