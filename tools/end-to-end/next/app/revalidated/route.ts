// A response that is made when the server is built, and again when it is older than a second.
import { api } from '../../lib/api.ts'

export const dynamic = 'force-static'
export const revalidate = 1

export async function GET(): Promise<Response> {
  const response = await api('records?size=1')
  return Response.json({ status: response.status, madeAt: Date.now() })
}
