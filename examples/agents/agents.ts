import { envCredentials, oauthIssuer } from '@tokenlane/core'
import { createTenants } from '@tokenlane/core/tenants'

const { MODEL_URL = '', TOKEN_ENDPOINT = '' } = process.env

/** One manager per agent, by name. All of them share the model API's budget. */
export const agents = createTenants({
  options: () => ({
    issuers: {
      // if each agent has its own client ID, write `options: (agent) => …` above and `envCredentials(agent)` here
      model: oauthIssuer({
        tokenEndpoint: TOKEN_ENDPOINT,
        credentials: envCredentials('MODEL'),
      }),
    },
    apis: [
      {
        baseUrl: MODEL_URL,
        issuer: 'model',
        ratePolicy: {
          limits: [{ quota: 50, window: 1_000 }],
          // per agent: 4 calls under way, and 200 waiting
          concurrency: 4,
          maxQueued: 200,
        },
      },
    ],
  }),
  limits: 'shared',
})
