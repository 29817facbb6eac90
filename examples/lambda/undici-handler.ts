import { isTokenlaneError } from '@tokenlane/core'
import { tokensInterceptor } from '@tokenlane/undici'
import { Agent, request } from 'undici'
import { tokens, urlOf, type Event, type Result } from './tokens.ts'

const dispatcher = new Agent().compose(tokensInterceptor(tokens))

export async function handler(event: Event): Promise<Result> {
  try {
    const { statusCode, body } = await request(urlOf(event), { dispatcher })
    return { statusCode, body: await body.text() }
  } catch (error) {
    if (!isTokenlaneError(error)) throw error
    return { statusCode: 503, body: JSON.stringify({ code: error.code }) }
  }
}
