/** Returns the reason in an error message: the text between `Cannot …: ` and the link `(see …)`. */
export function reasonIn({ message }: { readonly message: string }): string {
  return message.replace(/^Cannot [a-z ]+: /, '').replace(/ \(see [^)]*\)$/, '')
}
