import {
  Client,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import type { TokenManager } from '@tokenlane/core'
import { createFetch } from '@tokenlane/fetch'

/** Returns a client that is connected to an MCP server. Every request it sends has a live token. */
export async function connect(
  tokens: TokenManager,
  url: string,
): Promise<Client> {
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: createFetch(tokens),
  })
  const client = new Client({ name: 'my-agent', version: '1.0.0' })
  await client.connect(transport)
  return client
}
