import { discardBody, type AdmitOptions, type Api, type Pass } from '@tokenlane/core'

/** How a request is sent to its API: with which `fetch`, and how it wants to be treated. */
export interface Way extends AdmitOptions {
  readonly api: Api
  readonly fetch: (request: Request) => Promise<Response>
}

/** Sends a request, and once more for as long as its API says so. */
export async function exchange(
  next: (authorization: string) => Request,
  { api, fetch, ...options }: Way,
  held?: Pass,
): Promise<Response> {
  let pass = held ?? (await api.admit(options))
  try {
    for (;;) {
      const response = await fetch(next(pass.authorization))
      if (pass.report(reportOf(response)) === 'final') return response
      // the answer is unwanted, and so is its failure
      await discardBody(response.body).catch(() => {})
      pass = await api.admit({ ...options, after: pass })
    }
  } finally {
    pass.release()
  }
}

function reportOf({ status, headers }: Response): Parameters<Pass['report']>[0] {
  return {
    status,
    retryAfter: headers.get('retry-after'),
    wwwAuthenticate: headers.get('www-authenticate'),
  }
}
