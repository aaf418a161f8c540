import { NEVER, Observable, of, take } from "rxjs";
import { switchEach } from "../../../streams/triggers/switch-each.ts";

test("a reader who leaves at the first value of a list opens no stream of the others", () => {
  const open = new Set<string>();
  const lists$ = of([{ name: "a" }, { name: "b" }], [{ name: "c" }]);
  const each = switchEach<{ name: string }, string>({
    isSame: () => true,
    open: ({ name }) =>
      new Observable((subscriber) => {
        open.add(name);
        subscriber.add(() => open.delete(name));
        subscriber.next(name);
        subscriber.add(NEVER.subscribe(subscriber));
      }),
    gone: (name) => `no ${name}`,
  });
  const seen: string[] = [];
  lists$.pipe(each, take(1)).subscribe((value) => seen.push(value));
  expect([seen, [...open]]).toEqual([["a"], []]);
});
