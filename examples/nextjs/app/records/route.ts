import { api } from '../../lib/api.ts'

export async function GET(): Promise<Response> {
  const response = await api('records?size=1')
  return Response.json(await response.json(), { status: response.status })
}

// the issuer is asked while the server runs, not while it is built
export const dynamic = 'force-dynamic'
