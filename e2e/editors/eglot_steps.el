;;; What the scripts that drive eglot have in common.

(require 'json)
(require 'eglot)
(require 'flymake)

(defvar mem-out (list))
(defun mem-set (key value) (setq mem-out (cons (cons key value) mem-out)))

(defun mem-finish (err)
  (when err (mem-set 'error err))
  (with-temp-file (getenv "MEM_RESULT") (insert (json-encode (reverse mem-out))))
  (kill-emacs 0))

(defun mem-wait (what ready)
  (let ((end (+ (float-time) 10)))
    (while (not (funcall ready))
      (when (> (float-time) end) (error "waited in vain for %s; %S" what (ignore-errors (mem-codes))))
      (accept-process-output nil 0.01)
      (sit-for 0.01))))

(defun mem-codes ()
  "The rules of the diagnostics of this buffer."
  (mapcar (lambda (d) (let ((lsp (alist-get 'eglot-lsp-diag (eglot--diag-data d))))
                        (list (cons 'code (plist-get lsp :code))
                              (cons 'line (1+ (plist-get (plist-get (plist-get lsp :range) :start) :line)))
                              (cons 'message (plist-get lsp :message)))))
          (flymake-diagnostics)))

(defun mem-has (code)
  (seq-some (lambda (d) (equal (alist-get 'code d) code)) (mem-codes)))

(defun mem-open (name)
  (find-file (expand-file-name name (getenv "MEM_DIR")))
  (setq buffer-undo-list nil)
  (current-buffer))

(defun mem-tell-changes ()
  "A batch Emacs is never idle, which is when changes are sent."
  (dolist (b (buffer-list))
    (with-current-buffer b (when (eglot-managed-p) (eglot--signal-textDocument/didChange)))))

(defun mem-take (line kind pattern)
  "Takes the first action of a kind at a line whose title matches."
  (goto-char (point-min))
  (forward-line (1- line))
  (let* ((server (eglot-current-server))
         (beg (line-beginning-position)) (end (line-end-position))
         (diags (mapcar (lambda (d) (alist-get 'eglot-lsp-diag (eglot--diag-data d)))
                        (flymake-diagnostics beg (min (1+ end) (point-max)))))
         (actions (append (jsonrpc-request server :textDocument/codeAction
                           (list :textDocument (eglot--TextDocumentIdentifier)
                                 :range (list :start (eglot--pos-to-lsp-position beg) :end (eglot--pos-to-lsp-position end))
                                 :context (list :diagnostics (apply #'vector diags) :only (vector kind))))
                          nil))
         (chosen (seq-find (lambda (a) (string-match-p pattern (plist-get a :title))) actions)))
    (unless chosen (error "no action matches %s: %S" pattern (mapcar (lambda (a) (plist-get a :title)) actions)))
    (unless (or (plist-get chosen :edit) (plist-get chosen :command))
      (setq chosen (jsonrpc-request server :codeAction/resolve chosen)))
    (when (plist-get chosen :edit) (eglot--apply-workspace-edit (plist-get chosen :edit)))
    (when-let ((command (plist-get chosen :command)))
      (eglot-execute-command server (intern (plist-get command :command)) (plist-get command :arguments)))
    (mem-tell-changes)
    (mapcar (lambda (a) (plist-get a :title)) actions)))

(defun y-or-n-p (&rest _) "Nobody is there to ask." t)

(defun mem-setup ()
  (setq eglot-confirm-server-initiated-edits nil
        flymake-no-changes-timeout 0.05 eglot-send-changes-idle-time 0.02
        make-backup-files nil create-lockfiles nil)
  (define-derived-mode mem-mode text-mode "Mem")
  (add-to-list 'auto-mode-alist '("\\.md\\'" . mem-mode))
  (add-to-list 'eglot-server-programs (list 'mem-mode (getenv "MEM_LSP"))))
