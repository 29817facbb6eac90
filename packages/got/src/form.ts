import type { Options, OptionsInit } from 'got'

/** The caller's form. got sends it as a stream, which can be read once: each attempt needs a new stream of the form. */
export class ResendableForm {
  readonly #form: FormData
  /** Whether got names the content type: its boundary is another one for each stream. */
  readonly #namesContentType: boolean

  constructor(form: FormData, namesContentType: boolean) {
    this.#form = form
    this.#namesContentType = namesContentType
  }

  /** Returns whether `body` is a stream of the form: a hook of the caller's may have put something else in its place. */
  isIn(body: unknown): boolean {
    return body instanceof ReadableStream
  }

  again(): OptionsInit {
    return { body: this.#form, ...(this.#namesContentType && { headers: { 'content-type': undefined } }) }
  }
}

export function formOf({ body, headers }: Options): ResendableForm | undefined {
  // asked first, since the runtime looks `FormData` up for each call
  if (body === undefined || !(body instanceof FormData)) return undefined
  return new ResendableForm(body, headers['content-type'] === undefined)
}
