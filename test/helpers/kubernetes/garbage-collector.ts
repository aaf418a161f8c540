import { resources } from "./object-store.ts";
import type { ObjectStore } from "./object-store.ts";

/** Removes what an object owned once that is gone, and what is made for an owner that never was. */
export function collectGarbage(store: ObjectStore, isStopped: () => boolean): void {
  const sweep = () => {
    if (isStopped()) return;
    const all = resources.flatMap((resource) =>
      store.list(resource).map((object) => ({ resource, object })),
    );
    const uids = new Set(all.map(({ object }) => object.metadata.uid));
    for (const { resource, object } of all) {
      const owners = object.metadata.ownerReferences ?? [];
      if (owners.length > 0 && !owners.some(({ uid }) => uids.has(uid)))
        store.remove(resource, object.metadata.name);
    }
  };
  let isDue = false;
  store.onChange(({ type, object }) => {
    const mayLeaveGarbage = type === "DELETED" || object.metadata.ownerReferences !== undefined;
    if (isDue || !mayLeaveGarbage || type === "MODIFIED") return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      sweep();
    }, 100).unref();
  });
}
