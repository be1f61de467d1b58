package server

// Status for people: open documents, memory, server info.
type Status struct {
	Snapshot
	ServerInfo    string
	Encoding      string
	OpenDocuments int
	MemoryBytes   int64
	// Messages are the last ones that the server logged or showed, oldest first.
	Messages []string
}

// Status never blocks on the server.
func (s *Server) Status() Status {
	st := Status{Snapshot: s.Snapshot(), MemoryBytes: -1}
	sess := s.view.Load().session
	if sess == nil {
		return st
	}
	st.ServerInfo = sess.Capabilities().ServerInfo()
	st.Encoding = sess.Wire().Encoding.String()
	st.OpenDocuments = len(sess.mirror.Open())
	st.MemoryBytes = sess.h.Memory()
	st.Messages = sess.talk.all()
	return st
}
