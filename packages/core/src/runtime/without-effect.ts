/** Calls a function of the application; ignores what it throws or rejects with. */
export function withoutEffect(call: () => unknown): void {
  try {
    const outcome = call()
    // a promise of another realm, or of a library, is no instance of this realm's class
    if (Object(outcome) === outcome) new Promise((settle) => settle(outcome)).catch(() => {})
  } catch {}
}
