/** Returns why an error came about: its message, without what could not be done and without the page to read. */
export function reasonIn({ message }: { readonly message: string }): string {
  return message.replace(/^Cannot [a-z ]+: /, '').replace(/ \(see [^)]*\)$/, '')
}
