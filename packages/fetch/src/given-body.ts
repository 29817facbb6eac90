import { isReplayable } from '@tokenlane/core/adapter'

type Body = NonNullable<RequestInit['body']>
type Entries = Iterable<[string, string | File]>

/** Returns the body as it is at the call, which is what `fetch` sends: the caller may change it while the call waits. */
export function bodyNow(body: Body): Body {
  if (typeof body !== 'object' || !isReplayable(body)) return body
  // its bytes may have been moved elsewhere: then there is none to copy
  if ('byteLength' in body && body.byteLength === 0) return body
  if (isBuffer(body)) return body.slice(0)
  if (ArrayBuffer.isView(body)) {
    const { buffer, byteOffset, byteLength } = body
    // `fetch` refuses shared memory
    return isBuffer(buffer) ? buffer.slice(byteOffset, byteOffset + byteLength) : body
  }
  if (body instanceof URLSearchParams) return new URLSearchParams(body)
  return 'append' in body && Symbol.iterator in body ? formNow(body) : body
}

/** The tag recognizes one of another realm, such as that of a Jest test, too. */
function isBuffer(value: object): value is ArrayBuffer {
  return (value as Partial<ArrayBuffer>)[Symbol.toStringTag] === 'ArrayBuffer'
}

/** Another package has a form of its own. */
function formNow(form: FormData): FormData {
  const copy = new (form.constructor as typeof FormData)()
  for (const [name, value] of form as unknown as Entries) copy.append(name, value)
  return copy
}
