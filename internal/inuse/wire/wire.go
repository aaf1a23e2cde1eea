// Package wire speaks the MySQL client/server protocol as a relay sees it.
//
// A [Conn] is one side of the relay: towards an application the relay plays
// the server, towards the backend it plays the client. [RelayLogin] logs an
// application in with the backend's own accounts, then the relay reads a
// command from the one side, writes it to the other and walks the answer with a
// [Response], which says what each packet is:
//
//	var resp wire.Response
//	for {
//		p, err := client.ReadCommand(idle)          // one whole command
//		...                                         // look at it: Command(p[0]), DecodeQuery(p, caps)
//		server.WriteCommand(p)
//		resp.Start(wire.Command(p[0]), server.Caps)
//		for !resp.Done() {
//			kind, err := resp.Next(server)      // what came
//			err = server.CopyTo(client)         // or read server.Payload and write another packet
//		}
//	}
//
// Messages have a file each, with a Decode function that returns views of the
// packet it is given and an Append function that builds one. Decoders check
// every length before they use it and return [ErrMalformed]; none recurses or
// allocates by a size the peer chose.
//
// Sources: the MySQL internals manual ("Client/Server Protocol"), the MariaDB
// knowledge base ("Client/Server Protocol") and the servers' behaviour.
package wire
