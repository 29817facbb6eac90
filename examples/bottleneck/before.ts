import Bottleneck from 'bottleneck'

const { AUTH_URL = '', API_URL = '' } = process.env

const limiter = new Bottleneck({
  reservoir: 25,
  reservoirRefreshAmount: 25,
  reservoirRefreshInterval: 1_000,
  maxConcurrent: 10,
})

let token: string | undefined
async function getToken(): Promise<string> {
  if (token !== undefined) return token
  const response = await fetch(`${AUTH_URL}/public/security/v1/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: process.env['GENERAL_CLIENT_ID'] ?? '',
      client_secret: process.env['GENERAL_CLIENT_SECRET'] ?? '',
    }),
  })
  const { access_token: value } = (await response.json()) as {
    access_token: string
  }
  return (token = value)
}

/** Returns a record. Urgent calls go ahead of the others in the queue. */
export function readRecord(id: string, urgent = false): Promise<unknown> {
  return limiter.schedule({ priority: urgent ? 1 : 5 }, async () => {
    const response = await fetch(`${API_URL}records/${id}`, {
      headers: { authorization: `Bearer ${await getToken()}` },
    })
    if (!response.ok) throw new Error(`Cannot read ${id}: ${response.status}`)
    return response.json()
  })
}

export async function stop(): Promise<void> {
  await limiter.stop({ dropWaitingJobs: true })
}
