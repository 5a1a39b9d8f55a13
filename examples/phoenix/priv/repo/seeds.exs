# A customer to try the shop with: `mix ecto.setup` runs this. A deployment makes its own tokens.
"ada" |> Bookshop.Accounts.create_customer!() |> Bookshop.Accounts.put_user_api_token!("secret-of-ada")
