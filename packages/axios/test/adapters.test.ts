import { openScriptedApi } from '@tokenlane/conformance'
import { printed } from '@tokenlane/conformance/every-error'
import { fakeTokens } from '@tokenlane/core/testing'
import axios, { type AxiosAdapter, type AxiosError, type InternalAxiosRequestConfig } from 'axios'
import AxiosMockAdapter from 'axios-mock-adapter'
import { expect, onTestFinished, test } from 'vitest'

import { attachTokens } from '../src/index.ts'

const byAxios: AxiosAdapter = (config) => axios.request({ ...config, adapter: 'http' })

/** An adapter that shows its caller the headers in an object of its own. */
const copying: AxiosAdapter = async (config) => {
  const copy = (): InternalAxiosRequestConfig =>
    ({ ...config, headers: Object.assign({}, config.headers) }) as InternalAxiosRequestConfig
  if (config.url?.endsWith('refused') === true) throw new axios.AxiosError('no', 'ERR_OWN', copy())
  return { ...(await axios.getAdapter('http')(config)), config: copy() }
}

test.each(['axios-mock-adapter', 'one that calls axios', 'one that copies'])(
  'shows the token on no config that an adapter hands on: %s',
  async (which) => {
    const api = await openScriptedApi(({ url }) => ({ status: url === '/records' ? 200 : 500 }))
    onTestFinished(() => api.close())
    const client = axios.create({ baseURL: api.url, proxy: false })
    if (which === 'axios-mock-adapter') new AxiosMockAdapter(client as never).onAny().passThrough()
    else client.defaults.adapter = which === 'one that copies' ? copying : byAxios
    attachTokens(client, fakeTokens({ apis: [api.url] }))
    for (const path of ['records', 'failing', 'refused']) {
      const settled = await client.get(path).catch((error: unknown) => error as AxiosError)
      expect(settled.config?.headers).not.toHaveProperty('Authorization')
      expect(printed(settled), path).not.toContain('Bearer ')
    }
    expect(api.requests.map(({ headers }) => headers.authorization)).toContainEqual(
      expect.stringMatching(/^Bearer /),
    )
  },
)
