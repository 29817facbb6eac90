import { envCredentials, oauthIssuer } from '@tokenlane/core'
import { createTenants } from '@tokenlane/core/tenants'

const { MODEL_URL = '', TOKEN_ENDPOINT = '' } = process.env

/** The managers of the agents, by the name of an agent. They share one budget of the model API. */
export const agents = createTenants({
  options: () => ({
    issuers: {
      // an agent with a client of its own has credentials of its own, such as `envCredentials(agent)`
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
          // of each agent: beyond these its calls wait, or are refused at once
          concurrency: 4,
          maxQueued: 200,
        },
      },
    ],
  }),
  limits: 'shared',
})
