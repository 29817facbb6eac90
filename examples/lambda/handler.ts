import { isTokenlaneError } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'
import { tokens, urlOf, type Event, type Result } from './tokens.ts'

const fetch = createFetch(tokens)

export async function handler(event: Event): Promise<Result> {
  try {
    const response = await fetch(urlOf(event))
    return { statusCode: response.status, body: await response.text() }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { statusCode: 503, body: JSON.stringify({ code: error.code }) }
  }
}
