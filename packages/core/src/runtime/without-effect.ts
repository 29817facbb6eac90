/** Calls a function of the application whose failure changes nothing, whether it throws or returns something that rejects. */
export function withoutEffect(call: () => unknown): void {
  try {
    const outcome = call()
    // a promise of another realm, or of a library, is no instance of this realm's class
    if (Object(outcome) === outcome) new Promise((settle) => settle(outcome)).catch(() => {})
  } catch {
    // the failure is the application's own
  }
}
