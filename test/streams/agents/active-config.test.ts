import { map } from "rxjs";
import type { Observable } from "rxjs";
import { describe, expect, it } from "vitest";
import { activeConfig } from "../../../streams/agents/active-config.ts";
import type { AgentChange } from "../../../streams/vocabulary.ts";
import { anAgent } from "../../helpers/agents.ts";
import { marbles } from "../../helpers/marbles.ts";

/** A digit sets that version, `i` is invalid, `r` removed. */
function changeOf(letter: string): AgentChange {
  if (letter === "i") return { type: "invalid", name: "dev", problems: [], sources: [] };
  if (letter === "r") return { type: "removed", name: "dev" };
  return { type: "set", agent: anAgent("dev", { title: letter }), warnings: [] };
}

const versions = (letter$: Observable<string>, which: "config" | "before"): Observable<string> =>
  letter$.pipe(
    map(changeOf),
    activeConfig(),
    map((active) => active[which]?.title ?? "n"),
  );

describe("the active config", () => {
  it("keeps the last good config through an invalid change", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -1-i-i-2-|";
      const config = "   -1-1-1-2-|";
      const before = "   -n-1-1-1-|";
      expectObservable(versions(hot(changes), "config")).toBe(config);
      expectObservable(versions(hot(changes), "before")).toBe(before);
    }));

  it("keeps the config of a removed agent for its work, and begins anew when it comes back", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -1-r-2-r-i-3-|";
      const config = "   -1-1-2-2-n-3-|";
      const before = "   -n-1-n-2-n-n-|";
      expectObservable(versions(hot(changes), "config")).toBe(config);
      expectObservable(versions(hot(changes), "before")).toBe(before);
    }));

  it("has none until there was a good one", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -i-r-i-1-";
      const config = "   -n-n-n-1-";
      const before = "   -n-n-n-n-";
      expectObservable(versions(hot(changes), "config")).toBe(config);
      expectObservable(versions(hot(changes), "before")).toBe(before);
    }));

  it("knows whether the files were invalid before", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  -1-i-i-2-2-|";
      const invalid = "  -n-n-y-y-n-|";
      const was$ = hot(changes).pipe(
        map(changeOf),
        activeConfig(),
        map(({ wasInvalid }) => (wasInvalid ? "y" : "n")),
      );
      expectObservable(was$).toBe(invalid);
    }));

  it("passes the change itself on", () => {
    const seen: AgentChange[] = [];
    const change = changeOf("i");
    marbles(({ cold, flush }) => {
      cold("a", { a: change })
        .pipe(activeConfig())
        .subscribe((active) => seen.push(active.change));
      flush();
    });
    expect(seen).toEqual([change]);
  });

  it("keeps up with a burst", () =>
    marbles(({ hot, expectObservable }) => {
      const changes = "  (12i3)-|";
      const config = "   (1223)-|";
      expectObservable(versions(hot(changes), "config")).toBe(config);
    }));

  it("ends with its source, by completion, error or unsubscription", () =>
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const long$ = hot("-1---2--");
      expectObservable(versions(hot("|"), "config")).toBe("   |");
      expectObservable(versions(hot("-1-#"), "config")).toBe("-1-#");
      expectObservable(versions(long$, "config"), "---!").toBe("-1");
      expectSubscriptions(long$.subscriptions).toBe("        ^--!");
    }));

  it("begins anew for the next subscriber", () =>
    marbles(({ hot, expectObservable }) => {
      const config$ = versions(hot("-1---i---"), "config");
      expectObservable(config$).toBe("         -1---1---");
      expectObservable(config$, "  ---^-").toBe("-----n---");
    }));
});
