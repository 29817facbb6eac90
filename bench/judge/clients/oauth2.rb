# The gem oauth2, as its README shows client credentials.
require 'oauth2'

# Returns what calls a URL, with the variables of one API.
def client(prefix)
  oauth = OAuth2::Client.new(
    ENV["#{prefix}_CLIENT_ID"], ENV["#{prefix}_CLIENT_SECRET"],
    token_url: ENV["#{prefix}_TOKEN_URL"], auth_scheme: :request_body
  )
  scope = ENV["#{prefix}_SCOPE"]
  token = nil
  lambda do |url|
    token = oauth.client_credentials.get_token(scope ? { scope: scope } : {}) if token.nil? || token.expired?
    token.get(url)
  end
end

{ 'GENERAL' => ENV['API_URL'], 'WEBLINK' => ENV['WEBLINK_URL'] }.each do |prefix, base_url|
  call = client(prefix)
  number = 0
  lock = Mutex.new
  ENV['CALLERS'].to_i.times do
    Thread.new do
      loop do
        mine = lock.synchronize { number += 1 }
        begin
          call.call(format('%srecords/INV-%07d', base_url, mine))
        rescue StandardError
          # the next number
        end
        sleep 0.02
      end
    end
  end
end
sleep
