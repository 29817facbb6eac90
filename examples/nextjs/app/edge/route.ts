import { api } from '../../lib/api.ts'

export const runtime = 'edge'

export async function GET(): Promise<Response> {
  const response = await api('records?size=1')
  return Response.json(await response.json(), { status: response.status })
}
